/** Under construction. */
import type { EnvironmentProps } from '../reads.ts';

export default function SettingsTab({ environment }: EnvironmentProps) {
  return <p>{environment.name}</p>;
}
