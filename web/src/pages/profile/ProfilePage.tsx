/** The person who is signed in: name, password, sessions, keys, colours and rights. */
import { Group, Radio, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Part } from '../../records/Part.tsx';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { callOf } from '../../ui/calls.ts';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { ExplainedRights } from '../people/ExplainedRights.tsx';
import { AccountForms } from './AccountForms.tsx';
import { PersonalKeys } from './PersonalKeys.tsx';
import { Sessions } from './Sessions.tsx';

/** Rights of the person in the organization, and the link to other places. */
function OwnRights() {
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
      <Loaded query={explained}>{(rights) => <ExplainedRights explained={rights} />}</Loaded>
    </Part>
  );
}

function Colours() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Part title="Colours" lead="Kept in this browser.">
      <Radio.Group
        aria-label="Colours"
        value={colorScheme}
        onChange={(scheme) => setColorScheme(scheme as typeof colorScheme)}
      >
        <Group gap="lg">
          <Radio value="light" label="Light" />
          <Radio value="dark" label="Dark" />
          <Radio value="auto" label="Same as the system" />
        </Group>
      </Radio.Group>
    </Part>
  );
}

export function ProfilePage() {
  const { me } = useSession();
  return (
    <Page
      title="Profile"
      lead={me.user.email}
      calls={[
        callOf('Who you are', 'getCurrentUser', undefined, ['whoami']),
        callOf('Your sessions', 'listSessions', undefined, ['session', 'list']),
        callOf('Your keys', 'listPersonalApiKeys', undefined, ['key', 'list', '--personal']),
      ]}
    >
      <UrlTabs
        tabs={[
          {
            value: 'account',
            label: 'Account',
            content: () => (
              <>
                <AccountForms />
                <Colours />
              </>
            ),
          },
          { value: 'sessions', label: 'Sessions', content: () => <Sessions /> },
          { value: 'keys', label: 'Your keys', content: () => <PersonalKeys /> },
          { value: 'rights', label: 'Your rights', content: () => <OwnRights /> },
        ]}
      />
    </Page>
  );
}
