/** The fields of a password that is set, with what the service asks of it. */
import { PasswordInput } from '@mantine/core';

const passwordRule =
  'At least 12 characters, without your e-mail address. Longer is better than complicated: four random words are good.';

/** Problem of a new password, found before the request; null: none. */
export function passwordProblem(password: string): string | null {
  if (password.length < 12) return `12 characters at least: ${12 - password.length} more.`;
  return null;
}

export const nameProblem = (name: string): string | null =>
  name.trim() === '' ? 'Your name is required.' : null;

export interface NewPasswordProps {
  readonly label: string;
  /** Properties of the field from `form.getInputProps`. */
  readonly field: object;
}

export function NewPassword({ label, field }: NewPasswordProps) {
  return (
    <PasswordInput
      label={label}
      description={passwordRule}
      autoComplete="new-password"
      required
      inputWrapperOrder={['label', 'description', 'input', 'error']}
      {...field}
    />
  );
}
