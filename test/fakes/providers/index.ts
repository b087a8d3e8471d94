export { type Fault, type FaultPlan, faultsAtRandom, faultsInOrder, passingFaults } from './faults.ts';
export { type RawReply, type RawRequest, type RawServer, startRawServer } from './raw-server.ts';
export type { FakeReply, FakeToolCall, FakeUsage } from './reply.ts';
export { type Deed, researcher } from './researcher.ts';
export {
  type BaseUrls,
  type FormatName,
  type ProviderServer,
  type ProviderServerOptions,
  type SeenRequest,
  startProviderServer,
} from './server.ts';
export { inTurns, type Turn, type TurnsOptions, toolsOf } from './turns.ts';
export { type FakeWire, fakeKeys, fakeWires, variablesFor } from './wires.ts';
