/** The soak of `soak.slow.test.ts`, for a few seconds. */
import { soak } from './soak.ts';

soak('runs survive kills of everything', 1, { runs: 40, seconds: 20, killEverySeconds: 3 });
