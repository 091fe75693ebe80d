/** One line of the log. Its content comes from third parties: it is shown as text, whatever it contains. */
import { type CSSProperties, memo } from 'react';
import classes from './log.module.css';
import type { ShownLine } from './store/shown-lines.ts';
import type { Segment } from './text/segments.ts';

interface LinePart extends Segment {
  readonly isHit: boolean;
}

/** Segments, cut where hits begin and end. */
function partsOf({ segments, hits }: ShownLine): LinePart[] {
  const parts: LinePart[] = [];
  let start = 0;
  for (const segment of segments) {
    const end = start + segment.text.length;
    const borders = [start, ...hits.filter((hit) => hit > start && hit < end), end];
    for (let index = 0; index + 1 < borders.length; index++) {
      const [from, to] = [borders[index]!, borders[index + 1]!];
      const isHit = hits.some((hit, at) => at % 2 === 0 && hit <= from && (hits[at + 1] ?? 0) >= to);
      parts.push({ ...segment, text: segment.text.slice(from - start, to - start), isHit });
    }
    start = end;
  }
  return parts;
}

/** One of the sixteen colours has a role in the design; of others the tone is kept. */
function colorProps({ color, background }: Segment) {
  const style: Record<string, string> = {};
  if (color?.startsWith('rgb')) style['--own'] = color;
  if (background?.startsWith('rgb')) style['--own-background'] = background;
  return {
    ...(color === undefined ? {} : { 'data-color': color.startsWith('rgb') ? 'own' : color }),
    ...(background === undefined
      ? {}
      : { 'data-background': background.startsWith('rgb') ? 'own' : background }),
    style: style as CSSProperties,
  };
}

function PartOfLine({ part }: { readonly part: LinePart }) {
  const { text, href, isHit, isBold, isFaint, isItalic, isUnderlined } = part;
  const isPlain =
    !isHit && !isBold && !isFaint && !isItalic && !isUnderlined && !part.color && !part.background && !href;
  if (isPlain) return text;
  const Element = isHit ? 'mark' : 'span';
  const shown = (
    <Element
      {...colorProps(part)}
      data-bold={isBold}
      data-faint={isFaint}
      data-italic={isItalic}
      data-underlined={isUnderlined}
    >
      {text}
    </Element>
  );
  if (href === undefined) return shown;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {shown}
    </a>
  );
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});

export interface LineProps {
  /** From 1 on. */
  readonly number: number;
  readonly line: ShownLine | undefined;
  /** Address of the page with this line selected. */
  readonly href: string;
  readonly isSelected: boolean;
  readonly isCurrent: boolean;
  readonly hasTimes: boolean;
  readonly onMore: () => void;
}

export const Line = memo(function Line(props: LineProps) {
  const { number, line, href, isSelected, isCurrent, hasTimes, onMore } = props;
  return (
    <div
      className={classes.line}
      data-line={number}
      data-selected={isSelected || undefined}
      data-current={isCurrent || undefined}
    >
      <a href={href} className={classes.number} tabIndex={-1} data-number={number}>
        <span className="visually-hidden">Line </span>
        {number}
      </a>
      {hasTimes && (
        <span className={classes.time}>{line?.at === undefined ? '–' : clock.format(line.at)}</span>
      )}
      <span className={classes.text}>
        {line && partsOf(line).map((part, index) => <PartOfLine key={index} part={part} />)}
        {line !== undefined && line.hidden > 0 && (
          <button type="button" className={classes.more} onClick={onMore}>
            … {line.hidden.toLocaleString('en')} more characters
          </button>
        )}
      </span>
    </div>
  );
});
