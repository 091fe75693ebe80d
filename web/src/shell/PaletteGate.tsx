/**
 * The command palette from the moment it is opened: a plain field has the focus until the code of the palette is loaded
 * and has taken over the text, so that nothing typed is lost or acts on the page, and Enter is done once it can be.
 */
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useReturnFocus } from '../ui/return-focus.ts';
import classes from './Overlays.module.css';
import { closeOverlay, isEnter, paletteField } from './open-palette.ts';
import type { PaletteProps } from './Palette.tsx';

const Palette = lazy<(props: PaletteProps) => ReactNode>(() =>
  import('./Palette.tsx').catch(() => ({ default: PaletteMissing })),
);

function PaletteMissing() {
  return (
    <p role="alert" className={classes.missing}>
      The search could not be loaded. Check the connection, then reload the page.
    </p>
  );
}

interface PaletteFieldProps {
  readonly query: string;
  readonly onQuery: (query: string) => void;
  readonly onEnter: () => void;
}

function Field({ query, onQuery, onEnter }: PaletteFieldProps) {
  return (
    <input
      {...paletteField}
      className={classes.field}
      // biome-ignore lint/a11y/noAutofocus: a dialog that has just opened
      autoFocus
      value={query}
      onChange={(event) => onQuery(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') closeOverlay('palette');
        if (isEnter(event)) onEnter();
        // The field is all that there is in this dialog.
        if (event.key === 'Tab') event.preventDefault();
      }}
    />
  );
}

export function PaletteGate() {
  const [query, setQuery] = useState('');
  const [isReady, setReady] = useState(false);
  const [isEntered, setEntered] = useState(false);
  useReturnFocus();
  const onQuery = (text: string) => {
    setQuery(text);
    setEntered(false);
  };
  return (
    <>
      {!isReady && (
        <div
          role="dialog"
          aria-modal="true"
          aria-label="Search"
          className={classes.opening}
          onPointerDown={({ target, currentTarget }) => {
            if (target === currentTarget) closeOverlay('palette');
          }}
        >
          <Field query={query} onQuery={onQuery} onEnter={() => setEntered(true)} />
        </div>
      )}
      <Suspense>
        <Palette {...{ query, onQuery, isEntered }} onReady={() => setReady(true)} onEntered={setEntered} />
      </Suspense>
    </>
  );
}
