package main_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// takeREADMEScreenshots saves the README's screenshots of the dashboard, which show the demo.
func (s *service) pictures(t *testing.T, dir string) {
	t.Helper()
	s.key = s.testKey()
	user := s.api("POST", "/v1/users", object{"name": "Ada", "role": "admin"})["id"].(string)
	campaign := s.api("GET", "/v1/campaigns", nil)["data"].([]any)[0].(object)["id"].(string)
	var call string
	for _, c := range s.api("GET", "/v1/calls?status=completed&limit=100", nil)["data"].([]any) {
		if c := c.(object); c["disposition"] == "confirmed" && c["recording_available"] == true {
			call = c["id"].(string)
		}
	}
	require.NotEmpty(t, call)
	b := browse(t, os.DevNull)
	b.call("Emulation.setDeviceMetricsOverride", object{"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false})
	b.call("Emulation.setScrollbarsHidden", object{"hidden": true})
	b.open(s.api("POST", "/v1/users/"+user+"/sign-in-link", nil)["url"].(string))
	b.press("button")
	for _, p := range []struct{ name, path, theme string }{
		{"overview", "/", "light"}, {"campaign", "/campaigns/" + campaign, "light"}, {"call", "/calls/" + call, "dark"},
	} {
		b.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": p.theme}}})
		b.open("http://" + s.http + p.path)
		if p.name == "call" {
			b.run(`document.querySelector("audio").play()`)
			s.await("the waveform of the recording", time.Minute, func() bool { return b.run(`document.querySelector("#waveform").hidden`) == false })
		}
		shot, err := base64.StdEncoding.DecodeString(b.call("Page.captureScreenshot", object{})["data"].(string))
		require.NoError(t, err)
		small := exec.Command("ffmpeg", "-loglevel", "error", "-y", "-i", "-", "-vf", "split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse=dither=none",
			filepath.Join(dir, p.name+".png"))
		small.Stdin = bytes.NewReader(shot)
		said, err := small.CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
}
