/** When environments of a project are deployed and destroyed automatically. */
import { Link } from '@tanstack/react-router';
import type { Project } from '#contract/projects/shapes.ts';
import type { EnvironmentSchedule, Schedule } from '#contract/schedules/shapes.ts';
import { usePage, useRead } from '../../api/queries.ts';
import records from '../../records/records.module.css';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import classes from './projects.module.css';

const idOf = ({ deploy, destroy }: EnvironmentSchedule) => (deploy ?? destroy)?.environmentId ?? '';

function When({ schedule }: { readonly schedule: Schedule | undefined }) {
  if (schedule === undefined) return '–';
  return (
    <>
      <code>{schedule.cron}</code> {!schedule.enabled && <span className={classes.mark}>off</span>}
      {schedule.nextSchedule && schedule.enabled && (
        <div className={records.faint}>
          next <TimeAgo at={schedule.nextSchedule} />
        </div>
      )}
    </>
  );
}

export default function SchedulesTab({ project: { id } }: { readonly project: Project }) {
  const schedules = useRead('listProjectSchedules', { params: { id } });
  const environments = usePage('listEnvironments', {
    query: { projectId: id, excludeFields: 'latestDeploymentLog' },
  });
  const names = new Map(environments.data?.rows.map((row) => [row.id, row.name]));
  const columns: readonly Column<EnvironmentSchedule>[] = [
    {
      id: 'environment',
      head: 'Environment',
      cell: (row) => (
        <Link
          to="/environments/$environmentId"
          params={{ environmentId: idOf(row) }}
          search={{ tab: 'schedule' }}
          className={records.name!}
        >
          <bdi>{names.get(idOf(row)) ?? idOf(row)}</bdi>
        </Link>
      ),
    },
    { id: 'deploy', head: 'Deploys', cell: ({ deploy }) => <When schedule={deploy} /> },
    { id: 'destroy', head: 'Destroys', cell: ({ destroy }) => <When schedule={destroy} /> },
  ];
  const first = environments.data?.rows[0]?.id ?? '{id}';
  return (
    <Loaded query={schedules}>
      {(rows) =>
        rows.length > 0 ? (
          <>
            <p className={classes.note}>
              Cron expressions in UTC: minute, hour, day of month, month, day of week.
            </p>
            <DataTable label="Schedules" columns={columns} rows={rows} idOf={idOf} />
          </>
        ) : (
          <EmptyState
            title="No environment here has a schedule"
            call={callOf(
              'Deploy an environment each weekday at 6:00',
              'updateEnvironmentSchedule',
              { params: { id: first }, body: { deploy: { cron: '0 6 * * 1-5', enabled: true } } },
              ['environment', 'schedule', first, '--deploy', '0 6 * * 1-5'],
            )}
          >
            Schedules are set on the page of an environment.
          </EmptyState>
        )
      }
    </Loaded>
  );
}
