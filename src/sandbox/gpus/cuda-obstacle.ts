import type { Sandbox } from '../sandbox.ts';
import type { Gpu } from './gpu.ts';

const longestMs = 120_000;
const longestText = 2_000;

/** Initialises CUDA by the driver's own library, which all frameworks load: no package is needed. */
const question = `
import ctypes, sys
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    sys.exit(str(error))
count = ctypes.c_int()
code = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
if code != 0:
    text = ctypes.c_char_p()
    cuda.cuGetErrorString(code, ctypes.byref(text))
    sys.exit(f"CUDA error {code}: {(text.value or b'unknown').decode()}")
print(count.value)
`;

/**
 * Why programs in a sandbox can't compute on its GPUs; null if they can. Frameworks would silently compute on the
 * processor instead.
 * @param sandbox with these GPUs, and with Python: `python3` on its PATH
 */
export async function cudaObstacle(sandbox: Sandbox, gpus: readonly Gpu[]): Promise<string | null> {
  let said = '';
  const { ended } = await sandbox.start(['python3', '-c', question], {
    stdin: 'none',
    onOutput: (chunk) => {
      said = (said + chunk.toString('utf8')).slice(0, longestText);
    },
    timeoutMs: longestMs,
    signal: null,
  });
  const { ending, exitCode } = await ended;
  const printed = said.trim();
  if (ending !== 'exited') return `CUDA did not answer (${ending})`;
  if (exitCode !== 0) return printed === '' ? `python3 ended with code ${exitCode}` : printed;
  // CUDA shows one slice of a divided GPU at most.
  const expected = gpus.some(({ uuid, card }) => uuid !== card) ? 1 : gpus.length;
  return Number(printed) >= expected ? null : `CUDA finds ${printed} of ${expected} GPUs`;
}
