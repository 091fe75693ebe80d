/** What was typed in rows of variables. */
import { useRef, useState } from 'react';
import { editsAfter, editsOf } from '../variable-edits.ts';
import type { VariableRow } from './rows.ts';

/** Keeps what was typed until the service has it and the page shows that. */
export function useEdits() {
  const [edits, setEdits] = useState<readonly VariableRow[]>([]);
  /** What the service has, and what is read does not show yet. */
  const [saved, setSaved] = useState<readonly VariableRow[]>([]);
  const last = useRef(saved);
  return {
    edits,
    keep: (rows: readonly VariableRow[]) => setEdits(editsOf(rows)),
    /** How many of the rows have changes that are still to be saved. */
    unsaved: (rows: readonly VariableRow[]) => editsAfter(editsOf(rows), saved).length,
    /** After a save: what was typed meanwhile stays. @param sent the rows that were sent */
    onSaved: (sent: readonly VariableRow[]) => {
      last.current = editsOf(sent);
      setSaved(last.current);
    },
    /** Once the variables were read again. */
    onRefreshed: () => {
      setEdits((now) => editsAfter(now, last.current));
      setSaved([]);
    },
  };
}
