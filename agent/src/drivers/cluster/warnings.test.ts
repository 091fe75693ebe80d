/** Reports of kubectl and helm besides the objects that they change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helmDiagnostics } from '../helm/diagnostics.ts';
import { kubectlDiagnostics } from './kubectl-output.ts';

const warning = 'policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+';

test('each error of kubectl and each warning of the cluster is found', () => {
  const output = `Warning: ${warning}
deployment.apps/web serverside-applied
Error from server (Invalid): error when creating "STDIN": Service "web" is invalid: spec.ports: Required value
Error from server (Invalid): error when creating "STDIN": Service "api" is invalid: spec.ports: Required value
Error from server (Forbidden): events is forbidden: User "x" cannot list resource
`;
  assert.deepEqual(kubectlDiagnostics(output), [
    {
      severity: 'error',
      text: 'Error from server (Invalid): Service "web" is invalid: spec.ports: Required value',
    },
    {
      severity: 'error',
      text: 'Error from server (Invalid): Service "api" is invalid: spec.ports: Required value',
    },
    { severity: 'warning', text: warning },
  ]);
  assert.deepEqual(kubectlDiagnostics('deployment.apps/web unchanged\n'), []);
});

test('the error of helm and the warnings that it logs are found', () => {
  const output = `W1129 05:00:00.000000   12345 warnings.go:70] ${warning}
WARNING: Kubernetes configuration file is group-readable
Error: UPGRADE FAILED: cannot patch "web" with kind Service
`;
  assert.deepEqual(helmDiagnostics(output), [
    { severity: 'error', text: 'Error: UPGRADE FAILED: cannot patch "web" with kind Service' },
    { severity: 'warning', text: warning },
    { severity: 'warning', text: 'Kubernetes configuration file is group-readable' },
  ]);
});

test('warnings are complete, without marks, and no parts of errors', () => {
  const output = `Warning: 
W1129 05:00:00.000000   12345 warnings.go:70] "Warning: unrecognized format \\"int64\\""
I1129 05:00:00.000000   12345 warnings.go:110] "Warning: ${warning}"
Error: UPGRADE FAILED: cannot patch "web" with kind Service
WARNING: Kubernetes configuration file is group-readable
and its last line
`;
  assert.deepEqual(helmDiagnostics(output), [
    {
      severity: 'error',
      text: 'Error: UPGRADE FAILED: cannot patch "web" with kind Service\nand its last line',
    },
    { severity: 'warning', text: 'unrecognized format "int64"' },
    { severity: 'warning', text: warning },
    { severity: 'warning', text: 'Kubernetes configuration file is group-readable' },
  ]);
});
