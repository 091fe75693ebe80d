/** A form for something that others may change at the same time. */
import { useState } from 'react';
import { isStatus } from '../api/errors.ts';
import type { Refetch, Tagged } from '../api/queries.ts';

export interface Editing<Values> {
  readonly values: Values;
  readonly isTouched: boolean;
  /** Sent as `If-Match`: the version that the values began with. */
  readonly etag: string | undefined;
  /** Someone else has changed it since then. */
  readonly isOvertaken: boolean;
  readonly change: (changes: Partial<Values>) => void;
  /** Takes their version and forgets what was typed. */
  readonly reset: () => void;
  /** After a save: edits since then are still to be saved. @param sent the values that were sent */
  readonly saved: (sent: Values) => void;
  /** For the error of a change. @returns whether it was that another user was faster */
  readonly onRefused: (error: unknown) => boolean;
}

interface FormEdits<Values> {
  readonly values: Values;
  readonly etag: string | undefined;
  readonly isOvertaken: boolean;
  /** The service has the values; what is read does not show them yet. */
  readonly isSaved?: boolean;
}

/**
 * Follows what the service has until the first edit; then the typed values stay, and a change that comes too late
 * says so. Sent again, it replaces their version.
 * @param read what is edited, as it is read now
 * @param valuesOf its values for the form
 * @param refetch reads it again
 */
export function useEditing<Data, Values extends object>(
  read: Tagged<Data>,
  valuesOf: (data: Data) => Values,
  refetch: Refetch,
): Editing<Values> {
  const [edited, setEdited] = useState<FormEdits<Values>>();
  const theirs = valuesOf(read.data);
  return {
    values: edited?.values ?? theirs,
    isTouched: edited !== undefined && edited.isSaved !== true,
    etag: edited === undefined || edited.isOvertaken ? read.etag : edited.etag,
    isOvertaken: edited?.isOvertaken ?? false,
    change: (changes) =>
      setEdited((before) => ({
        etag: before?.etag ?? read.etag,
        isOvertaken: before?.isOvertaken ?? false,
        values: { ...(before?.values ?? theirs), ...changes },
      })),
    reset: () => setEdited(undefined),
    saved: (sent) => {
      setEdited((now) => (now?.values === sent ? { ...now, isSaved: true } : now));
      // Edits in the meantime are about the version that the save has made.
      const rebase = (etag: string | undefined) =>
        setEdited((now) =>
          now === undefined || now.isSaved ? undefined : { values: now.values, etag, isOvertaken: false },
        );
      void refetch().then(({ data }) => rebase(data?.etag));
    },
    onRefused: (error) => {
      if (!isStatus(error, 412)) return false;
      const overtake = () =>
        setEdited((before) => ({
          etag: undefined,
          isOvertaken: true,
          values: before?.values ?? theirs,
        }));
      // Replacing or showing their version requires it: until `useChange` has loaded it, neither is offered.
      void refetch({ cancelRefetch: false }).finally(overtake);
      return true;
    },
  };
}
