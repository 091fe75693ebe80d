/** Deployments to a cluster: the tool itself, and the agent. */
import { killInClusters } from './clusters-killed.ts';

killInClusters(['tool', 'agent']);
