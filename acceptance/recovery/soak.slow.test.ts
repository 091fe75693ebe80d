/** 2,000 runs while everything is killed at random: none is stuck, lost or doubled, and nothing is left behind. */
import { soak } from '../chaos/soak.ts';

soak('2,000 runs survive kills of everything', 2000, { runs: 2000, seconds: 45 * 60, killEverySeconds: 4 });
