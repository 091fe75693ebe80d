/** A form about something that others may change at the same time. */

import type { UseFormReturnType } from '@mantine/form';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { Tagged } from '../api/queries.ts';

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * After a save: what the form shows is what the service has, but for edits since then, which is still to be
 * saved.
 * @param sent the values of the form when it was sent
 * @param stored what the service has since
 */
export function mergeSaved<Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  sent: Values,
  stored: Values = sent,
): void {
  const typed = form.getValues();
  const typedSince = Object.entries(typed).filter(([field, value]) => !isSame(value, sent[field]));
  form.setInitialValues(stored);
  form.setValues({ ...stored, ...(Object.fromEntries(typedSince) as Partial<Values>) });
  form.resetDirty(stored);
}

export interface RecordEdits {
  /** The version that the form shows, for `ifMatch`. */
  readonly version: () => string | undefined;
  /** Drops what was typed, and shows what is there now. */
  readonly showLatest: () => void;
}

/**
 * A form in which nothing was typed follows what others save. Once something is typed it stays as it is, and
 * its version with it: the service then refuses the change, and the person decides.
 * @param stored what was read last
 * @param valuesOf the values of the form for it
 */
export function useEdited<Value, Values extends Record<string, unknown>>(
  stored: Tagged<Value>,
  form: UseFormReturnType<Values>,
  valuesOf: (value: Value) => Values,
): RecordEdits {
  const shown = useRef(stored.etag);
  const show = () => {
    const values = valuesOf(stored.data);
    form.setInitialValues(values);
    form.setValues(values);
    form.resetDirty(values);
    form.clearErrors();
    shown.current = stored.etag;
  };
  const follow = useEffectEvent(() => {
    if (stored.etag === shown.current) return;
    if (!form.isDirty()) show();
    // The version that a save of this form has made, while the person has continued to type.
    else if (isSame(valuesOf(stored.data), form.getInitialValues())) shown.current = stored.etag;
  });
  useEffect(() => follow(), [stored.etag]);
  return { version: () => shown.current, showLatest: show };
}
