/** Under construction. */
import type { EnvironmentProps } from '../reads.ts';

export default function ScheduleTab({ environment }: EnvironmentProps) {
  return <p>{environment.name}</p>;
}
