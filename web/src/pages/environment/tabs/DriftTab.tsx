/** Under construction. */
import type { EnvironmentProps } from '../reads.ts';

export default function DriftTab({ environment }: EnvironmentProps) {
  return <p>{environment.name}</p>;
}
