import { Page } from '../../ui/Page.tsx';

export function ConfigurationSetPage() {
  return (
    <Page title="Configuration set" calls={[]}>
      stub
    </Page>
  );
}
