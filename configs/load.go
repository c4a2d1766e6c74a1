package configs

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
)

// maxFileBytes bounds the size of a YAML file, so that Load does not read a large file named by mistake.
const maxFileBytes = 1 << 20

// Sources of a setting's value.
const (
	fromDefault = "default"
	fromFile    = "file"
	fromEnv     = "environment"
	fromFlag    = "flag"
)

// Load merges the YAML file at path, the CALLBOARD_ variables of env and the given flags into a Config. An empty
// path means no file. env has the form of os.Environ. flags maps flag names to values.
//
// An *InvalidError lists the problems of all sources. Any other error means that the file could not be read. An
// empty value stands for the default of its setting.
func Load(path string, env []string, flags map[string]string) (*Config, error) {
	l := &loader{path: path, settings: Settings()}
	file, err := l.readFile()
	if err != nil {
		return nil, err
	}
	variables, given := l.readEnvironment(env), l.readFlags(flags)

	k := koanf.New("\x00") // NUL never occurs in a key, so koanf does not split keys at dots
	for _, layer := range []map[string]any{l.defaultValues(), file, variables, given} {
		if err := k.Load(confmap.Provider(layer, ""), nil); err != nil {
			return nil, fmt.Errorf("configs: merge: %w", err)
		}
	}
	c := &Config{}
	right := make(map[string]bool, len(l.settings))
	for _, s := range l.settings {
		right[s.Key] = l.parseValue(c, s, l.findSource(s.Key, file, variables, given), k.Get(s.Key))
	}
	for i, s := range l.settings {
		if s.derive != nil && c.effective[i].Value == "" {
			c.effective[i].Value = s.derive(c)
		}
	}
	for i, s := range l.settings {
		if s.rule != nil && right[s.Key] && !slices.ContainsFunc(s.rule.keys, func(key string) bool { return !right[key] }) {
			l.checkRule(c, s, c.effective[i])
		}
	}
	if len(l.problems) > 0 {
		return nil, &InvalidError{Problems: l.problems}
	}
	return c, nil
}

type loader struct {
	path     string
	settings []Setting
	problems []Problem
}

func (l *loader) defaultValues() map[string]any {
	m := make(map[string]any, len(l.settings))
	for _, s := range l.settings {
		m[s.Key] = s.Default
	}
	return m
}

// readFile reads the YAML file and returns its values by the key of the setting. It records unknown keys as problems.
func (l *loader) readFile() (map[string]any, error) {
	if l.path == "" {
		return nil, nil
	}
	text, err := readBounded(l.path)
	if err != nil {
		return nil, fmt.Errorf("configs: %w", err)
	}
	k := koanf.New("\x00")
	if err := k.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
		return nil, fmt.Errorf("configs: %s is not a YAML map of settings: %w", l.path, err)
	}
	raw := k.Raw()
	known := make(map[string]any, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if !l.isKnownKey(key) {
			l.addUnknownSetting(key+" in "+filepath.Base(l.path), key, l.settingKeys())
			continue
		}
		known[key] = raw[key]
	}
	return known, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, maxFileBytes)
	}
	if len(text) == 0 {
		return nil, errors.New(path + " is empty")
	}
	return text, nil
}

// ignoredVariable matches CALLBOARD_ variables that are not settings of the service. Kubernetes sets some of them for
// a Service named callboard, and the command-line client reads the others.
var ignoredVariable = regexp.MustCompile(`^CALLBOARD_(KEY|URL|PROFILES?|SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

func (l *loader) readEnvironment(env []string) map[string]any {
	known := make(map[string]any)
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, EnvPrefix) || ignoredVariable.MatchString(name) {
			continue
		}
		i := slices.IndexFunc(l.settings, func(s Setting) bool { return s.Env == name })
		if i < 0 {
			l.addUnknownSetting(name, name, l.environmentNames())
			continue
		}
		known[l.settings[i].Key] = value
	}
	return known
}

func (l *loader) readFlags(flags map[string]string) map[string]any {
	known := make(map[string]any, len(flags))
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		i := slices.IndexFunc(l.settings, func(s Setting) bool { return s.Flag == name && name != "" })
		if i < 0 {
			l.addUnknownSetting("--"+name, name, nil)
			continue
		}
		known[l.settings[i].Key] = flags[name]
	}
	return known
}

func (l *loader) findSource(key string, file, variables, given map[string]any) string {
	for _, layer := range []struct {
		from string
		m    map[string]any
	}{{fromFlag, given}, {fromEnv, variables}, {fromFile, file}} {
		if _, ok := layer.m[key]; ok {
			return layer.from
		}
	}
	return fromDefault
}

// parseValue parses the value of a setting and stores it in c. If the value is invalid, it records a problem and returns
// false.
func (l *loader) parseValue(c *Config, s Setting, from string, value any) bool {
	text, ok := flatten(value)
	text = strings.TrimSpace(text)
	if ok && text == "" {
		text = s.Default
	}
	if ok && text != "" {
		ok = s.set(c, text)
	}
	shown := text
	if s.show != nil {
		shown = s.show(text)
	}
	c.effective = append(c.effective, EffectiveSetting{Key: s.Key, Value: shown, Source: from})
	if !ok {
		l.problems = append(l.problems, Problem{Name: l.nameInSource(s, from), Value: shown, Rule: s.Rule})
	}
	return ok
}

// checkRule records a problem if s breaks its rule about several settings.
func (l *loader) checkRule(c *Config, s Setting, shown EffectiveSetting) {
	if broken := s.rule.check(c); broken != "" {
		l.problems = append(l.problems, Problem{Name: l.nameInSource(s, shown.Source), Value: shown.Value, Rule: broken})
	}
}

// nameInSource returns the name of a setting as the user wrote it: a key of the file, a variable or a flag.
func (l *loader) nameInSource(s Setting, from string) string {
	switch from {
	case fromFlag:
		return "--" + s.Flag
	case fromFile:
		return s.Key + " in " + filepath.Base(l.path)
	default:
		return s.Env
	}
}

// flatten converts a YAML value into the text that an environment variable would contain. A list becomes items separated
// by commas, a map becomes name=value items. It returns false for nested or unsupported values.
func flatten(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool, int, int64, uint64:
		return fmt.Sprint(v), true
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			text, ok := flatten(item)
			if !ok || strings.Contains(text, ",") {
				return fmt.Sprint(v), false
			}
			items[i] = text
		}
		return strings.Join(items, ","), true
	case map[string]any:
		items := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, ok := flatten(v[name])
			if !ok || strings.Contains(text, ",") {
				return fmt.Sprint(v), false
			}
			items = append(items, name+"="+text)
		}
		return strings.Join(items, ","), true
	default:
		return fmt.Sprint(v), false
	}
}
