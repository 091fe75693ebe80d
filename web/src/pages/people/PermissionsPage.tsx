/** Rights of people, and the origin of each. */
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { MemberSelect } from '../../records/choosers.tsx';
import classes from '../../records/records.module.css';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { callOf } from '../../ui/calls.ts';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { Assignments } from './Assignments.tsx';
import { ExplainedRights } from './ExplainedRights.tsx';
import { ProjectMatrix } from './ProjectMatrix.tsx';
import { PlaceFields, useChosenPlace } from './place.tsx';

function Explain() {
  const { me } = useSession();
  const [{ user }, change] = useSearchState();
  const { place } = useChosenPlace();
  const userId = user ?? me.user.user_id ?? '';
  const explained = useRead('explainPermissions', {
    query: { ...place, ...(user === undefined ? {} : { userId: user }) },
  });
  return (
    <>
      <div className={classes.filters}>
        <MemberSelect
          label="Who"
          value={userId}
          allowDeselect={false}
          onChange={(next) => change({ user: next ?? undefined })}
        />
        <PlaceFields />
      </div>
      <Loaded query={explained}>{(rights) => <ExplainedRights explained={rights} />}</Loaded>
    </>
  );
}

function Matrix() {
  const [{ project }] = useSearchState();
  return (
    <>
      <div className={classes.filters}>
        <PlaceFields withEnvironment={false} />
      </div>
      <ProjectMatrix projectId={project} />
    </>
  );
}

function Assigned() {
  return (
    <>
      <div className={classes.filters}>
        <PlaceFields />
      </div>
      <Assignments />
    </>
  );
}

export function PermissionsPage() {
  const [{ user }] = useSearchState();
  const { place, words } = useChosenPlace();
  return (
    <Page
      title="Permissions"
      lead="Roles reach downwards, from the organization to its projects and environments, and add up. No role removes a right."
      calls={[
        callOf(
          'Explain rights',
          'explainPermissions',
          { query: { ...place, ...(user === undefined ? {} : { userId: user }) } },
          ['role', 'explain', ...(user === undefined ? [] : ['--user', user]), ...words],
        ),
        callOf('List roles of users', 'listUserRoles', { query: place }, ['role', 'assignments', ...words]),
      ]}
    >
      <UrlTabs
        tabs={[
          { value: 'explain', label: 'What a person may do', content: () => <Explain /> },
          { value: 'matrix', label: 'Everyone in a project', content: () => <Matrix /> },
          { value: 'assignments', label: 'Assignments', content: () => <Assigned /> },
        ]}
      />
    </Page>
  );
}
