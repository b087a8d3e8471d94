import { useState } from 'react';
import { FileList, FileText, StepDiff } from '../../../src/schema/index.ts';
import { useData, useSource } from '../data/use-data.ts';
import { showBytes, showCount, showPlural } from '../format/numbers.ts';
import { Code } from '../parts/code.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { DiffView } from '../parts/diff-view.tsx';
import { languageOf } from '../parts/language.ts';
import { Answer } from '../parts/states.tsx';
import { stepPath, useStepPlace } from './step-place.ts';

/** What the step changed in the workspace, and every file after it. */
export function Workspace({ changed }: { changed: number }) {
  const [filesOpen, setFilesOpen] = useState(false);
  return (
    <div className="step-part">
      <h3>
        Workspace{' '}
        <span className="quiet">
          {changed === 0 ? 'nothing changed' : `${showPlural(changed, 'path')} changed`}
        </span>
      </h3>
      {changed === 0 ? null : <Changes />}
      <details className="files" onToggle={(event) => setFilesOpen(event.currentTarget.open)}>
        <summary>All files as they were after this step</summary>
        {filesOpen ? <Files /> : null}
      </details>
    </div>
  );
}

function Changes() {
  const place = useStepPlace();
  const result = useData({ path: stepPath(place, 'diff'), parser: StepDiff });
  return (
    <Answer result={result} what="the changes">
      {({ files, total }) => (
        <>
          {files.map((file) => (
            <ChangedFile key={file.path} file={file} open={files.length <= 8} />
          ))}
          {total > files.length ? (
            <p className="quiet">{showCount(total - files.length)} more are not shown.</p>
          ) : null}
        </>
      )}
    </Answer>
  );
}

const kindSigns = { added: '+', removed: '−', modified: '~' };
const kindWords = { added: 'added', removed: 'removed', modified: 'changed' };
const asWords = {
  text: '',
  binary: 'no text',
  too_large: 'too large to show its changes',
  link: 'a link',
  mode: 'its mode changed',
  folder: 'a folder',
  kind: 'now another kind of file',
};

/** Longer changes are opened on demand: `code` for code, `other` for files that a script wrote. */
const manyLines = { code: 400, other: 40 };

function ChangedFile({ file, open }: { file: StepDiff['files'][number]; open: boolean }) {
  const { path, kind, as, patch, before, after } = file;
  const lines = patch === null ? 0 : patch.split('\n').length;
  const [shown, setShown] = useState(
    open && lines <= manyLines[languageOf(path) === null ? 'other' : 'code'],
  );
  return (
    <details className="file" open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        <span className={`change-${kind}`}>
          <span aria-hidden="true">{kindSigns[kind]}</span>{' '}
          <span className="visually-hidden">{kindWords[kind]} </span>
          {path}
        </span>{' '}
        <span className="quiet">
          {asWords[as]} {before === null ? '' : showBytes(before.size)}
          {before !== null && after !== null ? ' → ' : ''}
          {after === null ? '' : showBytes(after.size)}
        </span>
      </summary>
      {shown && patch !== null ? <DiffView unified={patch} name={path} /> : null}
    </details>
  );
}

function Files() {
  const place = useStepPlace();
  const result = useData({ path: stepPath(place, 'files'), parser: FileList });
  return (
    <Answer result={result} what="the files">
      {({ files, removed }) => (
        <ul className="file-list">
          {files.map((file) => (
            <li key={file.path}>
              <WorkspaceFile file={file} />
            </li>
          ))}
          {removed.map((path) => (
            <li key={path} className="change-removed">
              <del>{path}</del> removed
            </li>
          ))}
        </ul>
      )}
    </Answer>
  );
}

function WorkspaceFile({ file }: { file: FileList['files'][number] }) {
  const [open, setOpen] = useState(false);
  const { path, kind, size, object, target, change } = file;
  const name = (
    <>
      {path}
      {kind === 'folder' ? '/' : ''}{' '}
      <span className="quiet">{kind === 'link' ? `→ ${target}` : showBytes(size)}</span>
      {change === null ? null : <span className={`change-${change}`}> {kindWords[change]}</span>}
    </>
  );
  if (object === null) return <span className="file-line">{name}</span>;
  return (
    <details className="file" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{name}</summary>
      {open ? <FileContent object={object} path={path} /> : null}
    </details>
  );
}

function FileContent({ object, path }: { object: string; path: string }) {
  const { experiment } = useStepPlace();
  const source = useSource();
  const address = ['experiments', experiment, 'objects', object];
  const result = useData({ path: address, parser: FileText });
  const raw = source.download([...address, 'raw']);
  return (
    <Answer result={result} what={path}>
      {({ text, bytes }) => (
        <>
          <div className="text-tools">
            {text === null ? null : <CopyButton text={text} />}
            {raw === null ? null : (
              <a className="quiet-button" href={raw} download>
                Download
              </a>
            )}
          </div>
          {text === null ? (
            <p className="quiet">Not text, or too large to show: {showBytes(bytes)}.</p>
          ) : (
            <Code text={text} language={languageOf(path)} label={path} />
          )}
        </>
      )}
    </Answer>
  );
}
