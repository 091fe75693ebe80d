/** A thread that parses one HCL text after another, started by `parse-hcl-value.ts`. */
import { answerEach } from './answer-parent.ts';

void answerEach();
