/** From the start of the process until `GET /readyz` answers 200. */
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { scratchFolder, startService } from '../measure/service.ts';

const warmStartsPerFolder = 2;

export const readyBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const folders = isQuick ? 1 : 4;
  const first: number[] = [];
  const warm: number[] = [];
  for (let index = 0; index < folders; index++) {
    await using folder = await scratchFolder();
    for (let start = 0; start <= warmStartsPerFolder; start++) {
      await using service = await startService(folder, { withNpm: true });
      (start === 0 ? first : warm).push(service.readyAfter);
    }
  }
  return {
    figures: [
      figure('first start, on an empty data folder', 'ms', first),
      figure('warm start, on an existing data folder', 'ms', warm),
    ],
    settings: {
      folders,
      warmStartsPerFolder,
      command: 'npm start',
      compileCache: 'filled by earlier starts',
    },
  };
};
