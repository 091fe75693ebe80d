/** The person, the organization, the colours, and the way out. */
import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { chooseOrganization, signOut, useSession } from '../api/session.ts';
import { baseUrl } from '../api/client.ts';
import classes from './Shell.module.css';

const schemes = { light: 'Light', dark: 'Dark', auto: 'As the system' } as const;

export function UserMenu() {
  const { me, organizationId } = useSession();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = me.user.name ?? me.user.email ?? 'Account';
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <UnstyledButton className={classes.user} aria-label={`Account: ${name}`}>
          {name.slice(0, 1).toUpperCase()}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{name}</Menu.Label>
        <Menu.Item component={Link} to="/profile">
          Profile, keys and sessions
        </Menu.Item>
        <Menu.Item component="a" href={`${baseUrl}reference`}>
          Reference of the API
        </Menu.Item>
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
        <Menu.Item onClick={() => void signOut().then(() => navigate({ to: '/sign-in' }))}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
