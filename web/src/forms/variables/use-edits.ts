/** Edits in rows of variables. */
import { useRef, useState } from 'react';
import type { VariableFormRow } from './rows.ts';
import { editsAfter, editsOf } from './variable-edits.ts';

/** Keeps what was typed until the service has it and the page shows that. */
export function useEdits() {
  const [edits, setEdits] = useState<readonly VariableFormRow[]>([]);
  /** Changes that the service has, and the reads do not show yet. */
  const [saved, setSaved] = useState<readonly VariableFormRow[]>([]);
  const last = useRef(saved);
  return {
    edits,
    keep: (rows: readonly VariableFormRow[]) => setEdits(editsOf(rows)),
    /** Number of rows with unsaved changes. */
    unsaved: (rows: readonly VariableFormRow[]) => editsAfter(editsOf(rows), saved).length,
    /** After a save: edits since then stay. @param sent the rows that were sent */
    onSaved: (sent: readonly VariableFormRow[]) => {
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
