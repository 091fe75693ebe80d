/** `npm run english [-- path …]`: lists the lines that have a habit of tools/house/english.ts. */
import { findings, listed, roomOf } from './house/english.ts';

const paths = process.argv.slice(2).map((path) => path.replace(/\/$/, ''));
const found = findings().filter(
  ({ file }) =>
    paths.length === 0 ||
    paths.some((path) => file === path || file.startsWith(`${path}/`) || roomOf(file) === path),
);
if (found.length > 0) console.log(listed(found));
console.log(`${found.length} lines`);
