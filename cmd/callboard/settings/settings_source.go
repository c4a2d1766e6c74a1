// Package settings reads the settings of a command from its flags, the environment and files.
package settings

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/cmd/callboard/setup"
	"github.com/callboard/callboard/configs"
)

// AddFlags adds the flags of the settings to a command.
func AddFlags(cmd *cobra.Command) {
	cmd.Flags().String("config", "", "YAML file with settings")
	cmd.Flags().String("env-file", "", "file with environment variables, as callboard init writes it; variables of the environment take precedence")
	for _, s := range configs.Settings() {
		if s.Flag == "" {
			continue
		}
		if s.Default == "true" || s.Default == "false" {
			cmd.Flags().Bool(s.Flag, s.Default == "true", flagHelp(s.Doc))
			continue
		}
		cmd.Flags().String(s.Flag, s.Default, flagHelp(s.Doc))
	}
}

// flagHelp returns the help text of a flag for the description of a setting. The library takes a word in back quotes for the
// name of the flag's value.
func flagHelp(doc string) string { return strings.ReplaceAll(doc, "`", "") }

// Source names the files, environment variables and flags of the settings, so that a running service can read them
// again.
type Source struct {
	file    string // path of the YAML file; "": none
	envFile string // path of the file with environment variables; "": none
	environ []string
	flags   map[string]string
}

// NewSource returns the source of a command's settings.
func NewSource(cmd *cobra.Command) (s Source, err error) {
	s = Source{environ: os.Environ(), flags: make(map[string]string)}
	known := make(map[string]bool)
	for _, setting := range configs.Settings() {
		known[setting.Flag] = true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if known[f.Name] {
			s.flags[f.Name] = f.Value.String()
		}
	})
	if s.file, err = cmd.Flags().GetString("config"); err != nil {
		return s, err
	}
	s.envFile, err = cmd.Flags().GetString("env-file")
	return s, err
}

// Read reads the settings. fromFile lists the NAME=VALUE lines of the env file whose variables the environment does not
// set.
func (s Source) Read() (cfg *configs.Config, fromFile []string, err error) {
	if s.envFile != "" {
		if fromFile, err = s.unsetVariables(); err != nil {
			return nil, nil, err
		}
	}
	cfg, err = configs.Load(s.file, slices.Concat(s.environ, fromFile), s.flags)
	return cfg, fromFile, err
}

// unsetVariables returns the NAME=VALUE lines of the env file whose variables the environment does not set. If the file
// sets a variable several times, the first line counts.
func (s Source) unsetVariables() (out []string, err error) {
	lines, err := setup.ReadEnvFile(s.envFile)
	if err != nil {
		return nil, err
	}
	set := make(map[string]bool)
	for _, line := range s.environ {
		name, _, _ := strings.Cut(line, "=")
		set[name] = true
	}
	for _, line := range lines {
		if name, _, _ := strings.Cut(line, "="); !set[name] {
			set[name] = true
			out = append(out, line)
		}
	}
	return out, nil
}

// Load reads the settings of a command. It also copies the variables of the env file into the environment of the
// process, because the keys of speech and language engines are read from there.
func Load(cmd *cobra.Command) (*configs.Config, error) {
	s, err := NewSource(cmd)
	if err != nil {
		return nil, err
	}
	return s.LoadAndSet()
}

// LoadAndSet reads the settings and copies the variables of the env file into the environment of the process. The keys
// of speech and language engines are read from there.
func (s Source) LoadAndSet() (*configs.Config, error) {
	cfg, fromFile, err := s.Read()
	for _, line := range fromFile {
		name, value, _ := strings.Cut(line, "=")
		if failed := os.Setenv(name, value); failed != nil {
			return nil, fmt.Errorf("%s: %w", s.envFile, failed)
		}
	}
	return cfg, err
}
