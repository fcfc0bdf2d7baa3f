export { type Config, ConfigError, loadConfig } from './platform/config/config.ts'
export { type RunningServer, type ServerOverrides, startServer } from './server.ts'
