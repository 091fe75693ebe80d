import { createLimiter } from '../logs/limit.ts';
import { createMasker, type SecretPatterns } from '../logs/mask.ts';
import type { ByteFilter } from './step-log.ts';

/** Masks a step's raw output, then keeps at most a number of bytes of it. */
export function createStepFilter(secrets: SecretPatterns, limitBytes: number): ByteFilter {
  const masker = createMasker(secrets);
  const limiter = createLimiter(limitBytes);
  return {
    push: (bytes) => limiter.push(masker.push(bytes)),
    end: () => Buffer.concat([limiter.push(masker.end()), limiter.end()]),
  };
}
