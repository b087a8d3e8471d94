import ReactMarkdown, { type Components } from 'react-markdown';
import { Scroll } from './scroll.tsx';

/**
 * Links and pictures are shown as text: a picture would be a request to a server that an agent chose, and a link could
 * lead anywhere under any label. Headings stay below those of the page.
 */
const components: Components = {
  a: ({ children, href }) => (
    <span className="address">
      {children} <span className="quiet">({href})</span>
    </span>
  ),
  img: ({ alt, src }) => (
    <span className="address">
      {alt} <span className="quiet">(picture: {typeof src === 'string' ? src : ''})</span>
    </span>
  ),
  h1: ({ children }) => <p className="markdown-heading">{children}</p>,
  h2: ({ children }) => <p className="markdown-heading">{children}</p>,
  h3: ({ children }) => <p className="markdown-heading">{children}</p>,
  h4: ({ children }) => <p className="markdown-heading">{children}</p>,
  h5: ({ children }) => <p className="markdown-heading">{children}</p>,
  h6: ({ children }) => <p className="markdown-heading">{children}</p>,
  pre: ({ children }) => (
    <Scroll className="code" label="code">
      <pre>{children}</pre>
    </Scroll>
  ),
};

export default function MarkdownText({ text }: { text: string }) {
  return (
    <ReactMarkdown components={components} skipHtml={false}>
      {text}
    </ReactMarkdown>
  );
}
