/** Users of a token, a key or a connection, which prevent its deletion. */
import { Link } from '@tanstack/react-router';
import type { Reply } from '../../api/queries.ts';
import { Part } from '../../records/Part.tsx';
import classes from '../../records/records.module.css';

type ListedUse = Reply<'getGitToken'>['usedBy'][number];

const words: Readonly<Record<ListedUse['type'], string>> = {
  template: 'Template',
  environment: 'Environment',
  module: 'Module',
  vcsConnection: 'Forge',
};

function Target({ type, id, name }: ListedUse) {
  const text = <bdi>{name}</bdi>;
  if (type === 'template')
    return (
      <Link to="/templates/$templateId" params={{ templateId: id }}>
        {text}
      </Link>
    );
  if (type === 'environment')
    return (
      <Link to="/environments/$environmentId" params={{ environmentId: id }}>
        {text}
      </Link>
    );
  if (type === 'vcsConnection')
    return (
      <Link to="/vcs-connections" search={{ open: id } as never}>
        {text}
      </Link>
    );
  return text;
}

export function UsedBy({ uses }: { readonly uses: readonly ListedUse[] }) {
  return (
    <Part title="Used by" lead="Only what you can see is listed. It cannot be deleted while it is in use.">
      <ul className={classes.list}>
        {uses.length === 0 && <li>Nothing that you can see uses it.</li>}
        {uses.map((use) => (
          <li key={`${use.type}.${use.id}`}>
            <Target {...use} />
            <span>{words[use.type]}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}
