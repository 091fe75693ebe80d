/**
 * Draws terminal output as an SVG: `node tools/terminal-picture.ts <title> < output > picture.svg`. Made for
 * docs/demo.svg.
 */
import { text } from 'node:stream/consumers';

const lineHeight = 17;
const characterWidth = 7.8;
const margin = 16;
const columns = 118;

const colours: Record<string, string> = {
  1: '#ffffff',
  2: '#8b949e',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  36: '#79c0ff',
  90: '#8b949e',
};

interface TextSpan {
  text: string;
  colour: string;
  isBold: boolean;
}

function escapeXml(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The spans of one line; only colours and bold count, other control sequences are passed over. */
function spansOf(line: string): TextSpan[] {
  const spans: TextSpan[] = [];
  let colour = '#c9d1d9';
  let isBold = false;
  for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
    const codes = /^\u001b\[([\d;]*)m$/.exec(part)?.[1];
    if (codes === undefined) {
      if (part !== '') spans.push({ text: part, colour, isBold });
      continue;
    }
    for (const code of codes.split(';')) {
      if (code === '' || code === '0' || code === '22' || code === '39')
        [colour, isBold] = ['#c9d1d9', false];
      else if (code === '1') isBold = true;
      else colour = colours[code] ?? colour;
    }
  }
  return spans;
}

function drawLine(line: string, index: number): string {
  const spans = spansOf(line).map(
    (span) =>
      `<tspan fill="${span.colour}"${span.isBold ? ' font-weight="bold"' : ''}>${escapeXml(span.text)}</tspan>`,
  );
  return `<text x="${margin}" y="${margin + 26 + (index + 1) * lineHeight}" xml:space="preserve">${spans.join('')}</text>`;
}

const title = process.argv[2] ?? '';
const lines = (await text(process.stdin))
  .replaceAll('\r', '')
  .trimEnd()
  .split('\n')
  .map((line) => line.slice(0, columns * 2));
const height = margin * 2 + 26 + lines.length * lineHeight + 8;
const width = margin * 2 + columns * characterWidth;
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">` +
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/><text x="${margin}" y="26" fill="#8b949e" font-family="monospace" font-size="13">${escapeXml(title)}</text>` +
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13">${lines.map(drawLine).join('')}</g></svg>\n`,
);
