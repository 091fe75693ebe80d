import { Page } from '../../ui/Page.tsx';

export function ApiKeysPage() {
  return (
    <Page title="Api keys" calls={[]}>
      stub
    </Page>
  );
}
