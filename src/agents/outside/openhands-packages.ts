/**
 * The requirements of `openhands`, each at the version that was tried, except those that it can do without:
 * `browser-use` and `tom-swe` (tools that it does not offer here), `func-timeout` (required by the former, and
 * available only as source), `openhands-workspace` (its cloud), `textual-serve` (its pages), `lmnr` (traces that are
 * sent away) and `fakeredis`.
 */
export const openhandsPackages: readonly string[] = `
  agent-client-protocol==0.8.1 aiofile==3.12.3 aiohappyeyeballs==2.7.1 aiohttp==3.14.5 aiosignal==1.4.0
  annotated-doc==0.0.7 annotated-types==0.8.0 anyio==4.16.0 attrs==26.1.0 authlib==1.9.9 bashlex==0.18
  beartype==0.23.1 binaryornot==0.6.0 boto3==1.44.5 botocore==1.44.5 cachetools==8.0.1 caio==0.12.10
  certifi==2026.10.18 cffi==2.1.1 charset-normalizer==3.5.2 click==8.5.1 cryptography==50.0.2 cyclopts==5.4.0
  deprecation==2.1.0 distro==1.9.0 dnspython==2.9.2 docstring-parser==0.18.0 email-validator==2.4.0
  exceptiongroup==1.3.1 fastmcp==4.1.2 fastmcp-slim==4.1.2 fastuuid==0.14.0 filelock==3.32.7 frozenlist==1.8.0
  fsspec==2026.9.0 griffelib==2.4.1 h11==0.16.0 h2==4.4.1 hf-xet==1.8.0 hpack==4.2.0 httpcore==1.0.9
  httpcore2==2.16.2 httpx==0.28.1 httpx2==2.16.2 huggingface-hub==1.33.0 hyperframe==6.1.0 idna==3.20
  importlib-metadata==8.9.0 jaraco-classes==3.4.0 jaraco-context==6.1.2 jaraco-functools==4.6.0 jeepney==0.9.0
  jinja2==3.1.6 jiter==0.19.0 jmespath==1.1.0 joserfc==1.8.0 jsonref==1.1.0 jsonschema==4.26.0
  jsonschema-path==0.5.0 jsonschema-specifications==2025.9.1 keyring==25.7.0 libtmux==0.62.0
  linkify-it-py==2.2.0 litellm==1.106.2 markdown-it-py==4.3.0 markupsafe==3.0.4 mcp==2.3.0 mcp-types==2.3.0
  mdit-py-plugins==0.7.0 mdurl==0.1.2 more-itertools==11.2.1 multidict==7.2.1 openai==2.54.0
  openapi-pydantic==0.6.0 openhands-sdk==1.21.0 openhands-tools==1.21.0 opentelemetry-api==1.45.2
  packaging==26.3 pathable==0.6.0 pillow==13.0.0 platformdirs==4.14.7 propcache==0.5.4 py-key-value-aio==0.4.6
  pycparser==3.12 pydantic==2.14.3 pydantic-core==2.50.4 pydantic-settings==2.16.3 pygments==2.21.0
  pyjwt==2.15.1 pyperclip==1.11.0 python-dateutil==2.9.0.post0 python-dotenv==1.2.4 python-frontmatter==1.3.0
  python-json-logger==4.2.0 python-multipart==0.0.34 pyyaml==6.0.3 referencing==0.37.0 regex==2026.11.15
  requests==2.34.2 rich==14.2.0 rich-rst==2.2.0 rpds-py==2026.9.1 s3transfer==0.19.3 secretstorage==3.5.0
  shellingham==1.5.4 six==1.17.0 sniffio==1.3.1 socksio==1.0.0 sse-starlette==3.7.0 starlette==1.10.0
  streamingjson==0.0.5 tenacity==9.2.1 textual==8.2.8 textual-autocomplete==4.0.6 tiktoken==0.14.0
  tokenizers==0.23.3 tqdm==4.70.1 truststore==0.10.5 typer==0.29.2 typing-extensions==4.16.0
  typing-inspection==0.4.5 uncalled-for==0.6.1 urllib3==2.8.0 uvicorn==0.54.0 watchfiles==1.3.0
  websockets==17.4 yarl==1.25.1 zipp==4.1.2
`
  .trim()
  .split(/\s+/);
