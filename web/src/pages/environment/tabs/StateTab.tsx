/** Under construction. */
import type { EnvironmentProps } from '../reads.ts';

export default function StateTab({ environment }: EnvironmentProps) {
  return <p>{environment.name}</p>;
}
