/** The approval policies that come with the service, each explained. */

import { Select } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { CataloguePolicy } from '#contract/approval-policies/catalogue.ts';
import { useRead } from '../../api/queries.ts';
import records from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { useSearchState } from '../../ui/search.ts';
import classes from './policies.module.css';

/** Whether a policy fits what is searched, in any of its texts. */
function fits(policy: CataloguePolicy, text: string, category: string): boolean {
  const { path, name, description, explanation, tags, cloudProvider } = policy;
  const words = [path, name, description, explanation, cloudProvider, ...tags].join(' ').toLowerCase();
  return words.includes(text.toLowerCase()) && (category === '' || policy.categories.includes(category));
}

interface CatalogueItemProps {
  readonly policy: CataloguePolicy;
  readonly whyNot: string | undefined;
}

function Item({ policy, whyNot }: CatalogueItemProps) {
  const { path, name, description, explanation, categories, cloudProvider, files } = policy;
  const navigate = useNavigate();
  const cloud = cloudProvider === 'any' ? 'any cloud' : cloudProvider.toUpperCase();
  return (
    <li>
      <div>
        <h2>{name}</h2>
        <div className={records.faint}>
          {categories.join(', ')} · {cloud} · <code>{path}</code>
        </div>
      </div>
      <ActionButton
        size="compact-sm"
        variant="default"
        aria-label={`Use ${name}`}
        whyNot={whyNot}
        onClick={() => void navigate({ to: '/approval-policies/new', search: { catalogue: path } })}
      >
        Use
      </ActionButton>
      <p>
        {description} {explanation}
      </p>
      <details>
        <summary>Code</summary>
        {Object.entries(files).map(([file, text]) => (
          <pre key={file} tabIndex={0} aria-label={`${path}/${file}`}>
            {text}
          </pre>
        ))}
      </details>
    </li>
  );
}

export function Catalogue({ whyNot }: { readonly whyNot: string | undefined }) {
  const [{ q = '', category = '' }, change] = useSearchState();
  const catalogue = useRead('listCataloguePolicies');
  return (
    <Loaded query={catalogue}>
      {(all) => {
        const found = all.filter((policy) => fits(policy, q, category));
        const categories = [...new Set(all.flatMap((policy) => policy.categories))].toSorted();
        return (
          <>
            <div className={records.filters} role="search">
              <SearchBox label="Name, cloud or text" value={q} onSearch={(text) => change({ q: text })} />
              <Select
                aria-label="Category"
                placeholder="Any category"
                clearable
                data={categories}
                value={category === '' ? null : category}
                onChange={(next) => change({ category: next ?? undefined })}
              />
            </div>
            {found.length === 0 && <EmptyState title="No matching policies" />}
            <ul className={classes.catalogue} aria-label="Policies of the catalogue">
              {found.map((policy) => (
                <Item key={policy.path} policy={policy} whyNot={whyNot} />
              ))}
            </ul>
          </>
        );
      }}
    </Loaded>
  );
}
