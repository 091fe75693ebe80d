/** Long texts, read only; two of them beside each other with their differences, on narrow screens as one. */
import { json } from '@codemirror/lang-json';
import { type DiffConfig, MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { lineChanges } from './line-changes.ts';
import classes from './plan.module.css';

export interface TextDifferenceProps {
  /** Absent: there is nothing to compare with. */
  readonly before?: string;
  readonly after: string;
}

/** Texts that are longer together are compared by lines. */
const longestByCharacters = 100_000;

function differenceOf(before: string, after: string): DiffConfig {
  if (before.length + after.length <= longestByCharacters) return { scanLimit: 2000, timeout: 300 };
  const found = lineChanges(before, after);
  return found ? { override: () => found } : { timeout: 1000 };
}

const unchanged = { margin: 3, minSize: 6 };

function extensions(text: string): Extension[] {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
  return [
    EditorView.cspNonce.of(nonce),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': 'Text' }),
    lineNumbers(),
    ...(text.length < 200_000 ? [EditorView.lineWrapping] : []),
    ...(/^\s*[[{]/.test(text) && text.length < 200_000 ? [json()] : []),
  ];
}

function show(parent: HTMLElement, { before, after }: TextDifferenceProps, isNarrow: boolean) {
  if (before === undefined) return new EditorView({ parent, doc: after, extensions: extensions(after) });
  if (isNarrow)
    return new EditorView({
      parent,
      doc: after,
      extensions: [
        ...extensions(after),
        unifiedMergeView({
          original: before,
          mergeControls: false,
          collapseUnchanged: unchanged,
          diffConfig: differenceOf(before, after),
        }),
      ],
    });
  return new MergeView({
    parent,
    a: { doc: before, extensions: extensions(before) },
    b: { doc: after, extensions: extensions(after) },
    collapseUnchanged: unchanged,
    diffConfig: differenceOf(before, after),
  });
}

export default function TextDifference({ before, after }: TextDifferenceProps) {
  const place = useRef<HTMLDivElement>(null);
  const isNarrow = useMediaQuery('(max-width: 60rem)', false, { getInitialValueInEffect: false });
  useEffect(() => {
    const shown = show(place.current!, { ...(before === undefined ? {} : { before }), after }, isNarrow);
    return () => shown.destroy();
  }, [before, after, isNarrow]);
  return <div ref={place} className={classes.editor} />;
}
