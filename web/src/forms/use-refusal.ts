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

/**
 * The field of a form that a refusal is about; undefined: none of them.
 * @param fields fields of the form by their name in the request, where the two differ
 */
export function formFieldOf(
  error: unknown,
  values: object,
  fields: Readonly<Record<string, string>> = {},
): string | undefined {
  const named = fieldOf(error);
  if (named === undefined) return undefined;
  const [first = ''] = named.split('.');
  return [fields[named], fields[first], named, first].find((each) => each !== undefined && each in values);
}

/** @param fields fields of the form by their name in the request, where the two differ */
export function useRefusal(values: object, fields?: Readonly<Record<string, string>>): FormRefusal {
  const [error, setError] = useState<unknown>();
  const field = formFieldOf(error, values, fields);
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
