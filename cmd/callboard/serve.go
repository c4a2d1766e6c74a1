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

// serveCommand returns the command that runs the service until SIGINT or SIGTERM. A second signal ends the process
// at once. SIGHUP reloads the reloadable settings.
func serveCommand(again func()) *cobra.Command {
	playDemo := false
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			hangups := make(chan os.Signal, 1)
			signal.Notify(hangups, syscall.SIGHUP) // from here on SIGHUP does not end the process
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
				log.Warn("status notifications to the service manager failed", slog.Any("error", err))
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
	cmd.Flags().BoolVar(&playDemo, "demo", false, "play a demo campaign on the test carrier after the start")
	return cmd
}
