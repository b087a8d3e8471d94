export { createSandbox } from './create-sandbox.ts';
export * from './sandbox.ts';
export async function checkSandbox() {
  return [];
}
