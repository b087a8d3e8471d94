import { hasCode, UserError } from '../../lib/errors.ts';
import { installHint } from '../../lib/install-hint.ts';
import type { S3Store } from './s3-store.ts';

/**
 * Users without a store neither install nor load its library.
 * @throws UserError `no_s3_library`
 */
export async function openS3Store(
  address: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<S3Store> {
  try {
    const { S3Store } = await import('./s3-store.ts');
    return new S3Store(address, variables);
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new UserError(
      'no_s3_library',
      'The library for S3 is not installed.',
      installHint('@aws-sdk/client-s3@^3.1175.0', ', here and on each worker'),
      { cause: error },
    );
  }
}
