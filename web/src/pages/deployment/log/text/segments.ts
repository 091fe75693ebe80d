/** Coloured text as parts that a page shows as elements of its own making. */
import { AnsiUp } from 'ansi_up';

/** Text of one look. */
export interface Segment {
  readonly text: string;
  /** Name of one of the sixteen colours, such as `red` or `bright-red`, or `rgb(…)`. */
  readonly color?: string;
  readonly background?: string;
  readonly isBold?: boolean;
  readonly isFaint?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  /** Address of a link: http or https, nothing else. */
  readonly href?: string;
}

const link = /\x1b\]8;[^;\x00-\x1f\x7f]*;([^\x00-\x1f\x7f]*)(?:\x07|\x1b\\)/g;
/** The only element that ansi_up makes, around text without any. */
const span = /<span(?: style="([^"]*)")?(?: class="([^"]*)")?>([^<]*)<\/span>|([^<]+)/g;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

const unescape = (html: string) =>
  html.replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => entities[name]!);

function colorOf(style: string, classes: string, of: 'fg' | 'bg'): string | undefined {
  const named = new RegExp(`\\bansi-([a-z-]+)-${of}\\b`).exec(classes)?.[1];
  if (named !== undefined) return named;
  const property = of === 'fg' ? 'color' : 'background-color';
  return new RegExp(`(?:^|;)${property}:(rgb\\(\\d+,\\d+,\\d+\\))`).exec(style)?.[1];
}

function lookOf(style: string, classes: string): Omit<Segment, 'text'> {
  const color = colorOf(style, classes, 'fg');
  const background = colorOf(style, classes, 'bg');
  return {
    ...(color === undefined ? {} : { color }),
    ...(background === undefined ? {} : { background }),
    ...(style.includes('font-weight') ? { isBold: true } : {}),
    ...(style.includes('opacity') ? { isFaint: true } : {}),
    ...(style.includes('font-style') ? { isItalic: true } : {}),
    ...(style.includes('text-decoration') ? { isUnderlined: true } : {}),
  };
}

/** Only addresses that lead to a page: others stay text. */
function hrefOf(address: string): { href?: string } {
  if (!URL.canParse(address)) return {};
  const { protocol, href } = new URL(address);
  return protocol === 'http:' || protocol === 'https:' ? { href } : {};
}

/** @param text with colours (SGR) and links (OSC 8), as `terminalLine` leaves it */
export function segmentsOf(text: string): Segment[] {
  if (!text.includes('\x1b')) return text === '' ? [] : [{ text }];
  const ansi = new AnsiUp();
  ansi.use_classes = true;
  const segments: Segment[] = [];
  // Addresses and the text that they are for alternate.
  const parts = text.split(link);
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1 || part === '') continue;
    const address = parts[index - 1] ?? '';
    for (const [, style = '', classes = '', inside, outside] of ansi.ansi_to_html(part).matchAll(span)) {
      const shown = unescape(inside ?? outside ?? '');
      if (shown !== '') segments.push({ text: shown, ...lookOf(style, classes), ...hrefOf(address) });
    }
  }
  return segments;
}

/** The text without colours and links. */
export function plainText(text: string): string {
  if (!text.includes('\x1b')) return text;
  return text.replace(link, '').replace(/\x1b\[[\d;]*m/g, '');
}
