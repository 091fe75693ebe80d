/** The button of the account. */
import { UnstyledButton } from '@mantine/core';
import { useSession } from '../api/session.ts';
import { LazyMenu, lazyMenu } from '../ui/LazyMenu.tsx';
import classes from './Shell.module.css';

const menu = lazyMenu<string>(() => import('./AccountMenu.tsx'));

/** As people see it, also of emoji and of letters that are made of several signs. */
function firstLetter(name: string): string {
  const [first] = new Intl.Segmenter().segment(name);
  return first?.segment.toUpperCase() ?? '';
}

export function UserMenu() {
  const { me } = useSession();
  const name = me.user.name ?? me.user.email ?? 'Account';
  return (
    <LazyMenu
      menu={menu}
      content={name}
      button={(props) => (
        <UnstyledButton className={classes.user} aria-label={`Account: ${name}`} {...props}>
          {firstLetter(name)}
        </UnstyledButton>
      )}
    />
  );
}
