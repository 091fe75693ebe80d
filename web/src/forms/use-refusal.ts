/** Refusal of the service about a form: at its fields, or above them. */
import { useState } from 'react';
import { fieldOf, fieldText } from '../api/errors.ts';

export interface FormRefusal {
  /** Text by field. */
  readonly errors: Readonly<Record<string, string>>;
  /** A refusal that names no field. */
  readonly failure: unknown;
  readonly forget: () => void;
  /** For the error of a change. */
  readonly onError: (error: unknown) => true;
}

/** @param fields fields of the form by their name in the request */
export function useRefusal(fields: Readonly<Record<string, string>>): FormRefusal {
  const [error, setError] = useState<unknown>();
  const field = fields[fieldOf(error)?.split('.')[0] ?? ''];
  return {
    errors: field === undefined ? {} : { [field]: fieldText(error) },
    failure: field === undefined ? error : undefined,
    forget: () => setError(undefined),
    onError: (refused) => {
      setError(refused);
      return true;
    },
  };
}
