import { Page } from '../../ui/Page.tsx';

export function AuditPage() {
  return (
    <Page title="Audit" calls={[]}>
      stub
    </Page>
  );
}
