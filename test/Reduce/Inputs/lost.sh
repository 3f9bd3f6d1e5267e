#!/bin/sh
exec no-such-program "$1"
