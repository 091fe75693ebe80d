/** Rights of the person in the organization, and the link to other places. */
import { Link } from '@tanstack/react-router';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Part } from '../../records/Part.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { ExplainedRights } from '../people/ExplainedRights.tsx';

export function OwnRights() {
  const { organizationId } = useSession();
  const explained = useRead('explainPermissions', { query: { organizationId } });
  return (
    <Part
      title="In the organization"
      lead={
        <>
          In projects and environments you may have more:{' '}
          <Link to="/permissions">choose a place under Permissions</Link>.
        </>
      }
    >
      <Loaded query={explained}>{(found) => <ExplainedRights explained={found} />}</Loaded>
    </Part>
  );
}
