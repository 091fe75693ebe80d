/** Automatic events of an environment: deployments, destroys, the end of its lifetime. */
import type { EnvironmentProps } from '../facts/reads.ts';
import { LifetimeForm } from '../schedule/LifetimeForm.tsx';
import { ScheduleForm } from '../schedule/ScheduleForm.tsx';

export default function ScheduleTab(props: EnvironmentProps) {
  return (
    <>
      <ScheduleForm {...props} />
      <LifetimeForm {...props} />
    </>
  );
}
