/** For tests: what a process of an agent says of itself when it registers. */
import type { RegisterRequest } from '#protocol/messages/agent.ts';

export const registration: RegisterRequest = {
  protocol: { major: 1, minor: 0 },
  agentVersion: '1',
  spoolId: 's',
  bootId: 'b',
  hostname: 'h',
  processId: 1,
  tools: [],
  workFolder: '/w',
  slots: 1,
  held: [],
  isolation: {
    hasNamespaces: true,
    hasSystemCallFilter: true,
    hasOwnUsers: false,
    network: 'host',
    hasControlGroups: false,
    controllers: [],
    limits: { processes: 1, openFiles: 1, memoryMegabytes: 1, diskMegabytes: 1, fileMegabytes: 1 },
  },
};
