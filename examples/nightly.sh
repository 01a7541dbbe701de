#!/bin/sh
# Passes back the rows of an export, from cron, which mails what is printed:
#   17 2 * * *  /srv/app/nightly.sh /srv/export/users-$(date +\%F).csv
# Settings are USERINFO_PROFILE, or USERINFO_BASE_URL and so on. A run that was cut off is continued.
set -u
file=$1
userinfo bulk passback "$file" --failed "$file.failed.csv" --resume --yes --quiet
status=$?
case $status in
  0) ;;
  5) echo "The platform does not answer. The next run of $file continues." ;;
  6) echo "Rows were refused: correct them in $file.failed.csv, and run that file." ;;
  *) echo "Nothing more can be sent until that is corrected: exit status $status." ;;
esac
exit $status
