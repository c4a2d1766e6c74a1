package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/cmd/callboard/setup"
	"github.com/callboard/callboard/configs"
)

// settingsFlags gives a command the flags of the settings.
func settingsFlags(cmd *cobra.Command) {
	cmd.Flags().String("config", "", "YAML file with settings")
	cmd.Flags().String("env-file", "", "file with variables of the environment, as callboard init writes it; those that are set win")
	for _, s := range configs.Settings() {
		if s.Flag == "" {
			continue
		}
		if s.Default == "true" || s.Default == "false" {
			cmd.Flags().Bool(s.Flag, s.Default == "true", s.Doc)
			continue
		}
		cmd.Flags().String(s.Flag, s.Default, s.Doc)
	}
}

// settings reads what the flags, the environment and the file say.
func settings(cmd *cobra.Command) (*configs.Config, error) {
	given := make(map[string]string)
	known := make(map[string]bool)
	for _, s := range configs.Settings() {
		known[s.Flag] = true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if known[f.Name] {
			given[f.Name] = f.Value.String()
		}
	})
	path, err := cmd.Flags().GetString("config")
	if err != nil {
		return nil, err
	}
	if file, err := cmd.Flags().GetString("env-file"); err != nil {
		return nil, err
	} else if file != "" {
		if err = setEnv(file); err != nil {
			return nil, err
		}
	}
	return configs.Load(path, os.Environ(), given)
}

// setEnv sets the variables of a file that are not set.
func setEnv(path string) error {
	lines, err := setup.ReadEnv(path)
	if err != nil {
		return err
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err = os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// serveCommand runs the service until SIGINT or SIGTERM; a second signal ends
// it at once.
func serveCommand(again func()) *cobra.Command {
	demo := false
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings(cmd)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), cfg, demo, again)
		},
	}
	settingsFlags(cmd)
	cmd.Flags().BoolVar(&demo, "demo", false, "play a demo campaign on the built-in phones once the service is up")
	return cmd
}

func serve(ctx context.Context, cfg *configs.Config, demo bool, again func()) error {
	shiftClock()
	log := logger(cfg)
	if cfg.NodeAddr.IsValid() {
		if demo {
			return errors.New("--demo is for a service of one process: leave node_addr empty")
		}
		return serveAmong(ctx, cfg, log, again)
	}
	var show *demoShow
	var more extras
	if demo {
		var err error
		if show, err = newDemo(cfg); err != nil {
			return err
		}
		defer show.close()
		more = show.extras()
	}
	for {
		released, err := serveAlone(ctx, cfg, log, more, show, again)
		if !released || err != nil {
			return err
		}
		show = nil // it has played
	}
}

// serveAlone runs the only process of a service until it is told to end, or until its restored store is released.
func serveAlone(ctx context.Context, cfg *configs.Config, log *slog.Logger, more extras, show *demoShow, again func()) (released bool, err error) {
	began := time.Now()
	s, err := start(ctx, cfg, log, more)
	if err != nil {
		return false, err
	}
	log.LogAttrs(ctx, slog.LevelInfo, "ready", append(cfg.Attrs(),
		slog.Duration("after", time.Since(began).Round(time.Millisecond)), slog.String("http", s.front.String()),
		slog.String("version", version))...)
	go tendHeap(ctx)
	one := s.all()[0]
	one.welcome()
	if show != nil {
		go show.play(ctx, s)
	}
	select {
	case <-ctx.Done():
	case <-s.released:
		s.close()
		return true, nil
	case err = <-s.ended:
		if err == nil {
			err = errors.New("a listener ended")
		}
		s.close()
		return false, err
	}
	again() // from here on a second signal ends the process at once
	log.Info("stopping: no new calls, live ones may end", slog.Duration("limit", cfg.Drain))
	one.drain(context.WithoutCancel(ctx))
	s.close()
	log.Info("stopped")
	return false, nil
}

// welcome shows the first start's key, once, and only to a terminal.
func (t *seat) welcome() {
	if t.first == nil {
		return
	}
	path := filepath.Join(t.cfg.Data, "admin.key")
	if terminal() {
		fmt.Printf("\n  First start. The operator's API key, shown this once and kept in %s:\n\n    %s\n\n", path, t.first.AdminKey)
		return
	}
	t.log.Info("first start: the operator's API key is in a file", slog.String("path", path))
}
