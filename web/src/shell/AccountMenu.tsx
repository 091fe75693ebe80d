/** Menu of the account button: the person, the organization, the colours, and the way out. */
import { Menu, useMantineColorScheme } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { baseUrl } from '../api/client.ts';
import { chooseOrganization, signOut, useSession } from '../api/session.ts';
import type { OpenedMenuProps } from '../ui/LazyMenu.tsx';
import { OpenedMenu } from '../ui/OpenedMenu.tsx';
import { openShortcuts } from './open-palette.ts';

const schemes = { light: 'Light', dark: 'Dark', auto: 'Same as the system' } as const;

export default function AccountMenu({ target, content: name }: OpenedMenuProps<string>) {
  const { me, organizationId } = useSession();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <OpenedMenu target={target} width={260}>
      <Menu.Label>
        <bdi>{name}</bdi>
      </Menu.Label>
      <Menu.Item component={Link} to="/profile">
        Profile, keys and sessions
      </Menu.Item>
      <Menu.Item component="a" href={`${baseUrl}reference`}>
        Reference of the API
      </Menu.Item>
      <Menu.Item onClick={openShortcuts}>Keyboard shortcuts</Menu.Item>
      <Menu.Divider />
      <Menu.Label>Organization</Menu.Label>
      {me.organizations.map((each) => (
        <Menu.Item
          key={each.id}
          aria-current={each.id === organizationId}
          onClick={() => {
            chooseOrganization(each.id);
            void navigate({ to: '/' });
          }}
        >
          {each.id === organizationId ? '✓ ' : ''}
          <bdi>{each.name}</bdi>
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Label>Colours</Menu.Label>
      {(Object.keys(schemes) as (keyof typeof schemes)[]).map((scheme) => (
        <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)}>
          {scheme === colorScheme ? '✓ ' : ''}
          {schemes[scheme]}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Item onClick={() => void signOut().then(() => navigate({ to: '/sign-in' }))}>Sign out</Menu.Item>
    </OpenedMenu>
  );
}
