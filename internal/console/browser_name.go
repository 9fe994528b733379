package console

import "strings"

// browsers are the products by which a browser tells its name. Most browsers also name
// the ones that they are like, so the order matters.
var browsers = [][2]string{
	{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"HeadlessChrome/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
}

// systems are the systems that browsers name.
var systems = [][2]string{
	{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
}

// browserName writes how a browser describes itself in words: "Firefox on Windows". An
// unknown one stays as it is.
func browserName(agent string) string {
	name, system := firstNamed(agent, browsers), firstNamed(agent, systems)
	switch {
	case name == "":
		return agent
	case system == "":
		return name
	}
	return name + " on " + system
}

func firstNamed(agent string, names [][2]string) string {
	for _, name := range names {
		if strings.Contains(agent, name[0]) {
			return name[1]
		}
	}
	return ""
}

// lastPart is the last part of a path of attributes: mobile of customers.*.mobile.
func lastPart(attr string) string { return attr[strings.LastIndexByte(attr, '.')+1:] }
