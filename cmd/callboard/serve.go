package main

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/demo"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/cmd/callboard/server"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/cmd/callboard/systemd"
	"github.com/callboard/callboard/configs"
)

// serveCommand runs the service until SIGINT or SIGTERM; a second signal ends
// it at once. SIGHUP reloads what can be reloaded.
func serveCommand(again func()) *cobra.Command {
	playDemo := false
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			hangups := make(chan os.Signal, 1)
			signal.Notify(hangups, syscall.SIGHUP) // from here on it does not end the process
			defer signal.Stop(hangups)
			source, err := settings.NewSource(cmd)
			if err != nil {
				return err
			}
			cfg, err := source.LoadAndSet()
			if err != nil {
				return err
			}
			log, level := logging.NewWithLevel(cfg)
			manager, err := systemd.New()
			if err != nil {
				log.Warn("the service manager is not told how the service does", slog.Any("error", err))
			}
			r := &server.Reloader{Load: func() (*configs.Config, error) { next, _, err := source.Read(); return next, err }, Settings: cfg, Level: level, Log: log, ServiceManager: manager}
			defer r.Watch(hangups)()
			p := &server.Process{Settings: cfg, Log: log, Version: version, ServiceManager: manager, OnStopping: again}
			if playDemo {
				p.NewDemo = func() (server.Demo, error) { return demo.New(cfg) }
			}
			return p.Run(cmd.Context())
		},
	}
	settings.AddFlags(cmd)
	cmd.Flags().BoolVar(&playDemo, "demo", false, "play a demo campaign on the built-in phones once the service is up")
	return cmd
}
