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

// maxFile bounds the YAML file: a longer one is some other file.
const maxFile = 1 << 20

// Where a value came from.
const (
	fromDefault = "default"
	fromFile    = "file"
	fromEnv     = "environment"
	fromFlag    = "flag"
)

// Load reads the YAML file at path (none when path is empty), the variables of
// env that begin with CALLBOARD_ (as os.Environ gives them) and the flags that
// were given, by name. Every problem of every source is in the *InvalidError;
// on any other error the file could not be read.
//
// An empty value stands for the default of its setting.
func Load(path string, env []string, flags map[string]string) (*Config, error) {
	l := &loader{path: path, settings: Settings()}
	file, err := l.file()
	if err != nil {
		return nil, err
	}
	variables, given := l.environment(env), l.flags(flags)

	k := koanf.New("\x00") // no key is split: a dot in a name is part of it
	for _, layer := range []map[string]any{l.defaults(), file, variables, given} {
		if err := k.Load(confmap.Provider(layer, ""), nil); err != nil {
			return nil, fmt.Errorf("configs: merge: %w", err)
		}
	}
	c := &Config{}
	right := make(map[string]bool, len(l.settings))
	for _, s := range l.settings {
		right[s.Key] = l.fill(c, s, l.source(s.Key, file, variables, given), k.Get(s.Key))
	}
	for i, s := range l.settings {
		if s.derive != nil && c.shown[i].Value == "" {
			c.shown[i].Value = s.derive(c)
		}
	}
	for i, s := range l.settings {
		if s.rule != nil && right[s.Key] && !slices.ContainsFunc(s.rule.keys, func(key string) bool { return !right[key] }) {
			l.check(c, s, c.shown[i])
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

func (l *loader) defaults() map[string]any {
	m := make(map[string]any, len(l.settings))
	for _, s := range l.settings {
		m[s.Key] = s.Default
	}
	return m
}

// file reads the YAML file into one value per known key.
func (l *loader) file() (map[string]any, error) {
	if l.path == "" {
		return nil, nil
	}
	text, err := readBounded(l.path)
	if err != nil {
		return nil, fmt.Errorf("configs: %w", err)
	}
	k := koanf.New("\x00")
	if err := k.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
		return nil, fmt.Errorf("configs: %s is no YAML map of settings: %w", l.path, err)
	}
	raw := k.Raw()
	known := make(map[string]any, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if !l.has(key) {
			l.unknown(key+" in "+filepath.Base(l.path), key, l.keys())
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
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, maxFile)
	}
	if len(text) == 0 {
		return nil, errors.New(path + " is empty")
	}
	return text, nil
}

// noSetting matches what Kubernetes sets in every container beside a service
// named callboard, and what says whom the command line asks; nobody wrote these
// as settings.
var noSetting = regexp.MustCompile(`^CALLBOARD_(KEY|URL|PROFILES?|SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

func (l *loader) environment(env []string) map[string]any {
	known := make(map[string]any)
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, EnvPrefix) || noSetting.MatchString(name) {
			continue
		}
		i := slices.IndexFunc(l.settings, func(s Setting) bool { return s.Env == name })
		if i < 0 {
			l.unknown(name, name, l.variables())
			continue
		}
		known[l.settings[i].Key] = value
	}
	return known
}

func (l *loader) flags(flags map[string]string) map[string]any {
	known := make(map[string]any, len(flags))
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		i := slices.IndexFunc(l.settings, func(s Setting) bool { return s.Flag == name && name != "" })
		if i < 0 {
			l.unknown("--"+name, name, nil)
			continue
		}
		known[l.settings[i].Key] = flags[name]
	}
	return known
}

func (l *loader) source(key string, file, variables, given map[string]any) string {
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

// fill parses one merged value into its field.
func (l *loader) fill(c *Config, s Setting, from string, value any) bool {
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
	c.shown = append(c.shown, ShownSetting{Key: s.Key, Value: shown, From: from})
	if !ok {
		l.problems = append(l.problems, Problem{Name: l.name(s, from), Value: shown, Rule: s.Rule})
	}
	return ok
}

// check applies a rule between settings.
func (l *loader) check(c *Config, s Setting, shown ShownSetting) {
	if broken := s.rule.check(c); broken != "" {
		l.problems = append(l.problems, Problem{Name: l.name(s, shown.From), Value: shown.Value, Rule: broken})
	}
}

// name is what the reader has to look for, where the value was written.
func (l *loader) name(s Setting, from string) string {
	switch from {
	case fromFlag:
		return "--" + s.Flag
	case fromFile:
		return s.Key + " in " + filepath.Base(l.path)
	default:
		return s.Env
	}
}

// flatten turns a YAML value into the text that the environment would hold: a
// list into items with commas, a map into name=value items.
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
